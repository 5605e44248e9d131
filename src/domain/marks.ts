/**
 * The mark of a vendor that shows that a picture or a video is made by AI. Orders ask for it with
 * the field `watermark`, where the model has this field.
 */
import type { VendorParameters } from "./catalog/vendorParameters.ts"

const hasField = ({ watermark }: VendorParameters): boolean => watermark?.type === "boolean"

/** Whether an order with these values asks for the mark. */
export const isMarked = (
  { watermark }: Readonly<Record<string, unknown>>,
  fields: VendorParameters
): boolean => hasField(fields) && watermark === true

/**
 * The values of an order with the mark, where the model has the field and the client has not set
 * it. Null counts as not set.
 */
export const withMark = <Values extends Readonly<Record<string, unknown>>>(
  values: Values,
  fields: VendorParameters
): Values => {
  const { watermark = null }: Readonly<Record<string, unknown>> = values
  return hasField(fields) && watermark === null ? { ...values, watermark: true } : values
}

/** The fields of a model as they apply to orders that are marked by default. */
export const withMarkDefault = (fields: VendorParameters): VendorParameters => {
  const { watermark } = fields
  return watermark?.type === "boolean"
    ? { ...fields, watermark: { ...watermark, default: true } }
    : fields
}
