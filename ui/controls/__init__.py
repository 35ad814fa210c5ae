"""What a reader turns.

widgets        the kinds of controls: each in the URL, clamped, never losing its value
live           sliders that are followed while they are dragged
turns          one of several at a time
chooser        who can be asked for controls
server_knobs   every knob of a server
traffic_knobs  every knob of its traffic; `traffic` is what they stand at
traces         traffic from a reader's own file
"""
