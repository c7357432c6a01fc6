export default { name: "t", transform: () => Promise.reject() }
