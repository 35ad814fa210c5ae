"""Home: what you can do here, what you will be able to explain, and the map of the chapters."""

from ui.page import home

home.show(__file__)
