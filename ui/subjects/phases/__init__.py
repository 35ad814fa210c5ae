"""Prefill and decode: two shapes of work, on paper and measured on this machine.

pictures           matrices to scale, the two times of a step, along the batch
roofline_pictures  both phases on one roofline
measured           measuring on the machine that runs this app
"""
