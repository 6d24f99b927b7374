internal import DescriptorIO
internal import Glibc

/// The running kernel and its drivers for USB-serial adapters.
struct Kernel: Equatable {
    /// The release, as printed by `uname -r`.
    let release: String
    /// The ``adapterDrivers`` that are neither built in, nor available as modules, nor loaded now; nil if unknown, as
    /// in a container that lacks the kernel's folder in `/lib/modules`.
    let missingDrivers: [String]?

    /// The module names of the drivers of common adapters.
    static let adapterDrivers = ["ch341", "ftdi_sio", "cp210x", "pl2303", "cdc_acm"]

    /// Determines the missing drivers of a kernel.
    ///
    /// - Parameters:
    ///   - release: The release of the kernel.
    ///   - moduleLists: The contents of the release's files `modules.dep` and `modules.builtin`, without unreadable
    ///     files.
    ///   - isLoaded: Whether a module is loaded now.
    init(release: String, moduleLists: [String], isLoaded: (String) -> Bool) {
        self.release = release
        guard !moduleLists.isEmpty else {
            missingDrivers = nil
            return
        }
        // A file name may have dashes in place of the module name's underscores: cdc-acm.ko, but ftdi_sio.ko.
        var modules: Set<Substring> = []
        for line in moduleLists.joined(separator: "\n").split(separator: "\n") {
            let path = line.prefix { $0 != ":" }
            guard let file = path.split(separator: "/").last else { continue }
            modules.insert(file.prefix { $0 != "." })
        }
        missingDrivers = Self.adapterDrivers.filter { driver in
            let file = driver.map { $0 == "_" ? "-" : $0 }
            return !modules.contains(driver[...]) && !modules.contains(String(file)[...]) && !isLoaded(driver)
        }
    }

    /// Determines the release and the missing drivers of the running kernel.
    static func running() -> Kernel {
        var name = utsname()
        uname(&name)
        let release = withUnsafeBytes(of: &name.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let lists = ["dep", "builtin"].compactMap { TextFile.contents(of: "/lib/modules/\(release)/modules.\($0)") }
        return Kernel(release: release, moduleLists: lists) { access("/sys/module/\($0)", F_OK) == 0 }
    }
}
