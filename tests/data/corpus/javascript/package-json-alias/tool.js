export default "tool"
