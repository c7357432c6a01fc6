class Transformer:
    def __init__(self, tag):
        self.tag = tag

    def __call__(self, sources):
        return [{"id": self.tag + name} for name in sorted(sources)]


name = "callable"
transform = Transformer("s-")
