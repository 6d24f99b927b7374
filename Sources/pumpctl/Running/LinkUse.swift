/// What a command has a link for, which decides what becomes of others that want the device meanwhile.
enum LinkUse {
    /// One command and its answer: another pumpctl waits for its end.
    case oneCommand
    /// Something longer that ends by itself: others are refused.
    case transfer
    /// As long as a person likes: others are refused, but for OFF, which it sends for them.
    case watching
}

/// What is recorded of a command.
enum RecordedContent {
    /// The values that it reads; it records them itself.
    case values
    /// What goes over its links, line by line.
    case lines
}
