"""The code generator: from the operator table to typed nodes, dispatch, methods and stubs."""
