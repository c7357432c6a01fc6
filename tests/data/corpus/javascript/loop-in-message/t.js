export default { name: "t", transform() { throw { get message() { for (;;); } } } }
