export const models = {
  lead: "The models that your key can order. The prices apply to your organisation.",
  search: "Search models",
  modality: "Modality",
  all: "All",
  aliases: "also {{names}}",
  images_one: "{{count}} image per request",
  images_other: "up to {{count}} images per request",
  try: "Open in playground",
  nothing: "No models match"
}
