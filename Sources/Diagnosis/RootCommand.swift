internal import DescriptorIO
internal import Glibc
internal import LineProtocol

/// A command that needs root's rights, and is safe to run as it is.
///
/// ```swift
/// print(RootCommand("systemctl", "start", "bluetooth"))  // sudo systemctl start bluetooth
/// ```
public struct RootCommand: Sendable, Hashable {
    /// The program and its arguments, without `sudo`.
    public let words: [String]

    /// Creates a command from its words.
    public init(_ words: String...) { self.words = words }

    /// Adds this user to a group.
    static func joining(_ group: String) -> RootCommand {
        RootCommand("usermod", "-aG", group, HoldingProcess.name(of: getuid()))
    }
}

extension RootCommand: CustomStringConvertible {
    /// The command as a user types it.
    public var description: String { (["sudo"] + words).map(\.asWord).joined(separator: " ") }
}

extension Remedy {
    /// Returns the remedy to run a command.
    ///
    /// - Parameters:
    ///   - introduction: The text before the command.
    ///   - rest: The text after the command.
    static func run(_ command: RootCommand, after introduction: String = "", then rest: String = "") -> Remedy {
        .command(command, sentence: "\(introduction)\(command)\(rest)")
    }

    /// Returns a hint to join a group, as a command if there is a group to join.
    static func joining(_ group: String?, _ hint: String) -> Remedy {
        group.map { .command(.joining($0), sentence: hint) } ?? .advice(hint)
    }
}
