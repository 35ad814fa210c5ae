"""How a step reaches the GPU.

lanes         CPU and GPU on one time axis
launch_notes  what the two have just done, in words
pictures      when launches matter; captured sizes
"""
