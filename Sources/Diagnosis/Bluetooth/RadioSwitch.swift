internal import DescriptorIO

/// A switch that keeps Bluetooth off, as rfkill has it.
struct RadioSwitch: Equatable {
    /// What it belongs to, as `hci0` or `thinkpad_bluetooth`.
    let name: String
    /// Switched off by a program.
    let isSoftBlocked: Bool
    /// Switched off by the computer's own switch or key.
    let isHardBlocked: Bool

    /// Those for Bluetooth, by their names.
    ///
    /// - Parameter folder: Where the kernel shows them, which anybody may read.
    static func all(in folder: String = "/sys/class/rfkill") -> [RadioSwitch] {
        Folder.names(in: folder).compactMap { entry in
            func word(_ file: String) -> String? {
                TextFile.contents(of: "\(folder)/\(entry)/\(file)").map { String($0.prefix { $0 != "\n" }) }
            }
            guard word("type") == "bluetooth" else { return nil }
            return RadioSwitch(
                name: word("name") ?? entry, isSoftBlocked: word("soft") == "1", isHardBlocked: word("hard") == "1")
        }
    }
}
