export default { name: "t", transform: () => [{ id: (() => 1).constructor("return 'x'")() }] }
