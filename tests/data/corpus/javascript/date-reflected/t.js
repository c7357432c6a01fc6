export default { name: "t", transform: () => [{ id: "d", late: Reflect.construct(Date, []).getTime() > 0 }] }
