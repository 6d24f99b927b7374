import ArgumentParser
import DeviceKit

/// `pumpctl page`, which starts `pumpctl-page`: the program that offers the devices of pumpctld to browsers.
struct PageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page",
        abstract: "Use shared devices in a browser.",
        discussion: """
            Starts pumpctl-page, which serves a page for the devices of a running pumpctld, on this machine only, and opens \
            the page in a browser. Each browser needs a session, which begins with a code that can be used once.
            """,
        example: "pumpctl page --http 8081")

    @Option(
        help: ArgumentHelp(
            "Port of loopback, or unix:PATH, to serve the page at. (default: 8080)", valueName: "address"))
    var http: String?

    @Option(
        help: ArgumentHelp("A folder with captures, which everybody who is logged in may read.", valueName: "folder"))
    var captures: String?

    @Flag(help: "List the sessions.")
    var sessions = false

    @Option(help: ArgumentHelp("End a session, or all.", valueName: "id"))
    var revoke: String?

    @Flag(help: "Print a URL that begins a session, once.")
    var code = false

    @Flag(help: "With --code: the session may read, and not send commands.")
    var see = false

    /// The arguments for `pumpctl-page`, which rejects arguments that exclude each other.
    var arguments: [String] {
        let isServer = !sessions && revoke == nil && !code
        var words: [String] = []
        if let http = http ?? (isServer ? "8080" : nil) { words += ["--http", http] }
        if let captures { words += ["--captures", captures] }
        if sessions { words.append("--sessions") }
        if let revoke { words += ["--revoke", revoke] }
        if code { words.append("--code") }
        if see { words.append("--see") }
        return isServer ? words + ["--open"] : words
    }

    func run() throws { throw CompanionProgram.replaceThis(by: "pumpctl-page", arguments) }
}
