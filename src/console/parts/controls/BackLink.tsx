/** The link from one thing to the list that it is in. */
import { Anchor, Group } from "@mantine/core"
import { IconArrowLeft } from "@tabler/icons-react"
import { Link } from "wouter"

export const BackLink = ({ href, label }: { readonly href: string; readonly label: string }) => (
  <Anchor component={Link} href={href} size="sm" className="unprinted">
    <Group gap={4} component="span">
      <IconArrowLeft size={16} aria-hidden />
      {label}
    </Group>
  </Anchor>
)
