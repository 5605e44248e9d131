/** Addresses of results, as their vendors sign them. */

const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

/** How signatures of the same kind are called by different clouds. */
const signers = ["x-amz", "x-tos", "x-goog", "x-oss", "x-cos"]

const fromDate = (date: string, seconds: number): number | null => {
  const match = DATE.exec(date)
  if (match === null) return null
  const [, year, month, day, hour, minute, second] = match
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + seconds * 1000
}

/** What cannot be the time of a signature: before 2001, or seconds of the distant future. */
const isMoment = (millis: number): boolean => millis > 1e12 && millis < 1e13

/** Until when an address lives, as its own signature tells; null where it does not. */
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
