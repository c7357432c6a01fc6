class Case { constructor(id) { this.id = id } evaluate() { return true } }
export default { name: "t", transform: () => [new Case("x")] }
