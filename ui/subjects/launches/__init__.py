"""How a step reaches the GPU: CPU and GPU on one time axis."""
