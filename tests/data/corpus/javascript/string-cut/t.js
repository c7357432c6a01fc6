export default { name: "t", transform: () => [{ id: "s", short: "flag 🇵🇪".substring(0, 6) }] }
