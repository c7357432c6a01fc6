name = "t"
transform = [{"id": "x"}]
