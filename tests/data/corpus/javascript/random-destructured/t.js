const { random: roll, floor } = Math
export default { name: "t", transform: () => [{ id: `r${floor(roll())}` }] }
