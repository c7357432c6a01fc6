// é
export default {}
