import { Badge, Text } from "@mantine/core"
import type { Medium } from "./draft.ts"
import { megabytes } from "./localFiles.ts"

/** The name and size of a file that the reader added. */
export const FileName = ({ name, bytes }: NonNullable<Medium["file"]>) => (
  <>
    <Text size="sm" truncate>
      {name}
    </Text>
    <Badge variant="default" tt="none" style={{ flexShrink: 0 }}>
      {megabytes(bytes)}
    </Badge>
  </>
)
