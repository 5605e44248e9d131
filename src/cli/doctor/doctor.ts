import { Command } from "effect/cli"
export const doctorCommand = Command.make("doctor")
