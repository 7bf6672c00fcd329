"""The table of layers: one row per class of ``nn`` that stores options and calls a function.

A file of rows becomes the module of ``autograd_cy/nn`` with the same path: ``layers/padding.py`` is
written as ``nn/padding.py`` by ext/codegen/layers.py. Only the build reads the rows. A layer with
more than a row can say (parameters that are learned, state) is a class by hand.
"""
