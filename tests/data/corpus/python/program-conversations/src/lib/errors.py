class BadRow(ValueError):
    def __init__(self, row, why):
        super().__init__(f"row {row}: {why}")
        self.row = row
