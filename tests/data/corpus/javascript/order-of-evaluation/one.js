import { log } from "./log.js"
import "./three.js"
log.push("one")
