const real = { name: "t", version: 2, transform() { return [{ id: this.name + this.version }] } }
export { real as "the transformer" }
