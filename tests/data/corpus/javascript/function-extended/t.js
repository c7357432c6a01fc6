export default { name: "t", transform() { class Code extends Function {} return [{ id: new Code("return 'c'")() }] } }
