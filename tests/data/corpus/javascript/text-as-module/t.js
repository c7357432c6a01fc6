import notes from "./NOTES"
export default { name: "t", transform: () => [{ id: notes }] }
