"""Systems as a whole: the ladder of mechanisms, several GPUs, three answers to full memory."""
