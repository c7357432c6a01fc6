const view = <p>hello</p>
export default { name: "t", transform: () => [{ id: String(view) }] }
