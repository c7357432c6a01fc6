import x from "/etc/hostname"
export default { name: "t", transform: () => [{ id: x }] }
