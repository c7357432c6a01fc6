name = "inner"
transform = lambda sources: ({"id": "x"}, {"id": "y"})
