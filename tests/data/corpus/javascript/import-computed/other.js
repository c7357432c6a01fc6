export default "o"
