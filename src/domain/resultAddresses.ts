/** Signed URLs of results, as vendors issue them. */

const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

/**
 * The prefixes of the signature parameters in URLs. Each cloud has its own prefix for parameters
 * that mean the same.
 */
const signers = ["x-amz", "x-tos", "x-goog", "x-oss", "x-cos"]

const fromDate = (date: string, seconds: number): number | null => {
  const match = DATE.exec(date)
  if (match === null) return null
  const [, year, month, day, hour, minute, second] = match
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + seconds * 1000
}

/**
 * Whether a number of milliseconds can be an expiry time: times before 2001 and in the distant
 * future are excluded.
 */
const isMoment = (millis: number): boolean => millis > 1e12 && millis < 1e13

/** The expiry time in the signature of a URL; null if the URL states none. */
export const expiryOf = (address: string): Date | null => {
  const query = URL.parse(address)?.searchParams
  if (query === undefined) return null
  const valuesByName = new Map([...query].map(([name, value]) => [name.toLowerCase(), value]))
  const ends = [
    ...signers.flatMap((signer) => {
      const date = valuesByName.get(`${signer}-date`)
      const seconds = Number(valuesByName.get(`${signer}-expires`) ?? Number.NaN)
      return date === undefined || Number.isNaN(seconds) ? [] : [fromDate(date, seconds)]
    }),
    Number(valuesByName.get("expires") ?? Number.NaN) * 1000
  ]
  const end = ends.find((millis) => millis !== null && isMoment(millis))
  return end === undefined || end === null ? null : new Date(end)
}
