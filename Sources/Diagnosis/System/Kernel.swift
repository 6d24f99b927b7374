internal import DescriptorIO
internal import Glibc

/// The kernel that runs, and which drivers for USB-serial adapters it has.
struct Kernel: Equatable {
    /// As `uname -r` prints it.
    let release: String
    /// Those of ``adapterDrivers`` that it has neither built in nor as a module; nil where that can't be told, as in a
    /// container, which sees the kernel and not its modules.
    let missingDrivers: [String]?

    /// The drivers of the adapters that people plug in, by their modules.
    static let adapterDrivers = ["ch341", "ftdi_sio", "cp210x", "pl2303", "cdc_acm"]

    /// - Parameters:
    ///   - moduleLists: What `modules.dep` and `modules.builtin` of the release say, as far as they can be read.
    ///   - isLoaded: Whether a module is in use now.
    init(release: String, moduleLists: [String], isLoaded: (String) -> Bool) {
        self.release = release
        guard !moduleLists.isEmpty else {
            missingDrivers = nil
            return
        }
        // Files have a dash where modules have an underscore: cdc-acm.ko.
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

    /// The one that runs this program.
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
