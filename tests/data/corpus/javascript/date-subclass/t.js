class Day extends Date { get label() { return `day ${this.getUTCDate()} of ${this.constructor.name}` } }
export default { name: "t", transform: () => [{ id: "d", label: new Day(864e5).label, is: new Day(0) instanceof Date, own: new Day(0).constructor === Day }] }
