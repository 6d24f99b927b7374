internal import DescriptorIO

/// An rfkill switch of a Bluetooth radio.
struct RadioSwitch: Equatable {
    /// The name of the radio or driver, such as `hci0` or `thinkpad_bluetooth`.
    let name: String
    /// Whether a program switched the radio off.
    let isSoftBlocked: Bool
    /// Whether the computer's hardware switch or key switched the radio off.
    let isHardBlocked: Bool

    /// Returns the switches for Bluetooth, in order of names.
    ///
    /// - Parameter folder: The folder in which the kernel lists the switches. Every user may read it.
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
