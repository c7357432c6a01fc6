name = "t"


def transform(sources):
    def depth(tree):
        return 1 + max(map(depth, tree), default=0)


    tree = []
    for _ in range(200):
        tree = [tree]
    return [{"id": "d", "v": depth(tree)}]
