export default { name: "t", transform: () => [{ id: "d", y: new (new Date(0).constructor)().getFullYear() > 1 }] }
