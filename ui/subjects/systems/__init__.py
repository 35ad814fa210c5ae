"""Systems as a whole.

ladder        what each mechanism gains, from a naive server to a modern one
mechanisms    which mechanism answers which problem
several_gpus  one model on several GPUs
masks         what masks cost the CPU
pressure      three answers to full memory
projects      which project works on which layer
rows          bars in rows, for all of these
"""
