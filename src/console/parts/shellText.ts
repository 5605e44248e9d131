/**
 * A text as a quoted shell argument. Inside single quotes only the single quote itself needs
 * escaping.
 */
export const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
