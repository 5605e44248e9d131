/** The purposes of a file in OpenAI's API; none of them changes how a file is treated here. */
export const filePurposes = [
  "user_data",
  "vision",
  "assistants",
  "batch",
  "evals",
  "fine-tune"
] as const

export type FilePurpose = (typeof filePurposes)[number]
