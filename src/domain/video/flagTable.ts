/**
 * The flags that some vendor's model may read in a prompt, and how the gateway treats each. A word
 * after `--` that is not listed is no vendor's flag and stays in the text unchanged.
 */
import { Result } from "effect"
import { InvalidRequest } from "../Errors.ts"

/** The field of the order that an accepted flag sets. */
export type FlagField = "duration" | "resolution" | "ratio" | "generateAudio" | ParameterFlag

/** Vendor-specific flags, by the name of the equivalent field. */
export const parameterFlags = ["seed", "camera_fixed", "watermark"] as const
type ParameterFlag = (typeof parameterFlags)[number]

export const isParameterFlag = (name: string): name is ParameterFlag =>
  parameterFlags.some((flag) => flag === name)

interface FlagRow {
  /** The names of the flag, the long name first. `_` stands for `_`, `-` or nothing. */
  readonly names: readonly [string, ...ReadonlyArray<string>]
  /** Set if the flag is accepted and removed from the text; the last flag of a field counts. */
  readonly field?: FlagField
  /** Set if the flag is refused: the `param` of the error, and advice for the client. */
  readonly refused?: readonly [param: string, advice: string]
}

const leaveOut = ["prompt", "leave it out, the gateway takes no such option"] as const

const flagTable: ReadonlyArray<FlagRow> = [
  { names: ["duration", "dur"], field: "duration" },
  { names: ["resolution", "rs"], field: "resolution" },
  { names: ["ratio", "rt", "aspect_ratio"], field: "ratio" },
  { names: ["generate_audio"], field: "generateAudio" },
  { names: ["seed", "sd"], field: "seed" },
  { names: ["camera_fixed", "cf"], field: "camera_fixed" },
  { names: ["watermark", "wm"], field: "watermark" },
  {
    names: ["frames", "frm", "num_frames", "frame_num"],
    refused: ["duration", "order the length in whole seconds with the field duration"]
  },
  {
    names: ["frames_per_second", "fps", "frame_rate"],
    refused: ["prompt", "leave it out, the vendor decides the frame rate"]
  },
  { names: ["size"], refused: ["resolution", "use the fields resolution and ratio"] },
  { names: ["model"], refused: ["model", "use the field model"] },
  { names: ["no_audio"], refused: ["generate_audio", "use the field generate_audio"] },
  {
    names: ["n", "num_videos", "batch_size"],
    refused: ["prompt", "leave it out, an order is for one video"]
  },
  {
    names: [
      "draft",
      "service_tier",
      "priority",
      "tools",
      "return_last_frame",
      "execution_expires_after",
      "callback_url",
      "safety_identifier"
    ],
    refused: leaveOut
  }
]

/**
 * Normalizes a flag name: the same name has several spellings, such as `camerafixed` and
 * `camera_fixed`.
 */
const plainName = (flagName: string): string =>
  flagName.normalize("NFKC").toLowerCase().replace(/[-_]/g, "")

const rows: ReadonlyMap<string, FlagRow> = new Map(
  flagTable.flatMap((row) => row.names.map((name) => [plainName(name), row] as const))
)

/** The field of a flag name, or the error if the flag is refused. */
export const meaningOf = (flagName: string): Result.Result<FlagField, InvalidRequest> => {
  const { field, refused: [param, advice] = leaveOut } = rows.get(plainName(flagName)) ?? {}
  const message = `The flag --${flagName} in the text is not taken: ${advice}`
  return field === undefined
    ? Result.fail(new InvalidRequest({ message, param }))
    : Result.succeed(field)
}

/** The long flag name of a field, for messages. */
export const flagOf = (field: FlagField): string =>
  `--${flagTable.find((row) => row.field === field)?.names[0]}`

/** A pattern of every flag name as a whole word; digits may follow directly, as in `--dur5`. */
export const namePattern = `(?:${flagTable
  .flatMap(({ names }) => names)
  .toSorted((a, b) => b.length - a.length)
  .map((name) => name.replaceAll("_", "[-_]?"))
  .join("|")})(?![a-z]|_+[a-z]|-[a-z])`
