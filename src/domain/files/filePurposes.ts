/** The purposes of a file in OpenAI's API; no purpose changes how the gateway treats a file. */
export const filePurposes = [
  "user_data",
  "vision",
  "assistants",
  "batch",
  "evals",
  "fine-tune"
] as const

export type FilePurpose = (typeof filePurposes)[number]
