class Transformer { #made = 0; name = "t"; transform({ sources }) { return Object.keys(sources).map((key) => ({ id: `${key}${++this.#made}` })) } }
export default new Transformer()
