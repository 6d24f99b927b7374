/// A version of BlueZ, such as 5.66.
struct BlueZVersion: Comparable, CustomStringConvertible {
    let major: Int
    let minor: Int

    init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    var description: String { "\(major).\(minor)" }

    static func < (left: BlueZVersion, right: BlueZVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// Parses the modalias of an adapter; nil if the modalias does not contain bluetoothd's version.
    ///
    /// bluetoothd puts its own version there, 5.66 as `d0542`, unless it is configured with another product than
    /// `1D6B:0246`.
    init?(modalias: String) {
        let prefix = "usb:v1D6Bp0246d"
        guard modalias.hasPrefix(prefix), let number = Int(modalias.dropFirst(prefix.count), radix: 16) else {
            return nil
        }
        self.init(number >> 8, number & 0xFF)
    }

    /// Parses a package list; nil if the list does not contain BlueZ with a version of two numbers or more.
    ///
    /// - Parameter packages: The contents of `/var/lib/dpkg/status`: paragraphs of `Package: bluez`, `Version:
    ///   5.66-1+deb12u2`.
    init?(packages: String) {
        var isBlueZ = false
        for line in packages.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty { isBlueZ = false }
            if line == "Package: bluez" { isBlueZ = true }
            // A package that was removed may stay in the list for the sake of its configuration.
            if line.hasPrefix("Status: "), !line.hasSuffix(" installed") { isBlueZ = false }
            guard isBlueZ, line.hasPrefix("Version: ") else { continue }
            // Debian may put an epoch before the version: `1:5.66`.
            let version = line.dropFirst("Version: ".count).split(separator: ":").last ?? ""
            let numbers = version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
            guard numbers.count >= 2 else { return nil }
            self.init(numbers[0], numbers[1])
            return
        }
        return nil
    }

    /// A missing feature, or one that needs `--experimental`; nil if nothing is missing.
    var shortcoming: Fact? {
        if self < BlueZVersion(5, 42) {
            return "BlueZ \(self) supports GATT only as an experimental feature, so 'ble:' does not work"
        }
        if self < BlueZVersion(5, 48) { return .advertisesAsExperiment(bluez: description) }
        guard self < BlueZVersion(5, 62) else { return nil }
        return "BlueZ \(self) does not report the packet size, so 20 bytes are sent at a time"
    }
}
