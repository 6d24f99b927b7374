import Logging

/// A swift-log handler that writes one line for each message.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel: Logger.Level
    private let format: LogFormat
    private let write: @Sendable (_ line: String) -> Void

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - format: The format of a line.
    ///   - level: The lowest level that is written.
    ///   - write: Receives each line, with its line end.
    init(_ format: LogFormat, level: Logger.Level, write: @escaping @Sendable (_ line: String) -> Void) {
        self.format = format
        self.write = write
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var values = metadata
        if let provided = metadataProvider?.get() { values.merge(provided) { $1 } }
        if let own = event.metadata { values.merge(own) { $1 } }
        write(format.line(event.level, "\(event.message)", values))
    }
}
