import SerialPort
import Testing
import Transports

@testable import Diagnosis

@Suite struct SystemCheckupTests {
    private static let dependencies = """
        kernel/drivers/usb/serial/ch341.ko: kernel/drivers/usb/serial/usbserial.ko
        kernel/drivers/usb/serial/ftdi_sio.ko.xz: kernel/drivers/usb/serial/usbserial.ko.xz
        kernel/drivers/usb/class/cdc-acm.ko.zst:
        """

    @Test func `Kernel drivers are loadable, built in or loaded`() {
        let kernel = Kernel(
            release: "6.1.0", moduleLists: [Self.dependencies, "kernel/drivers/usb/serial/cp210x.ko\n"]
        ) { $0 == "pl2303" }
        #expect(kernel.missingDrivers == [])
    }

    @Test func `Missing USB serial drivers are a warning with a remedy`() throws {
        let kernel = Kernel(release: "6.1.0-cloud", moduleLists: [Self.dependencies]) { _ in false }
        #expect(kernel.missingDrivers == ["cp210x", "pl2303"])
        let found = try #require(findings(kernel: kernel).first { $0.check == .kernel })
        #expect(found.status == .warning)
        #expect(found.fact == "Linux 6.1.0-cloud lacks drivers for USB adapters: cp210x, pl2303")
        #expect(found.remedy?.description.contains("linux-image-amd64") == true)
    }

    @Test func `If the modules are unreadable, the drivers are unknown`() throws {
        let kernel = Kernel(release: "6.1.0", moduleLists: []) { _ in false }
        #expect(kernel.missingDrivers == nil)
        #expect(findings(kernel: kernel).first { $0.check == .kernel } == .unknown(.kernel, "Linux 6.1.0"))
    }

    @Test func `A loaded library is reported with its file`() throws {
        let libraries = SharedLibraries(
            maps: """
                55c0-55c1 r--p 00000000 fe:00 33 /usr/local/bin/pumpctl
                7fc6-7fc7 r--p 00000000 fe:00 34                     /usr/lib/x86_64-linux-gnu/libudev.so.1.7.5
                7fc7-7fc8 r-xp 00007000 fe:00 34                     /usr/lib/x86_64-linux-gnu/libudev.so.1.7.5
                7ffd-7ffe rw-p 00000000 00:00 0                      [stack]
                """)
        #expect(libraries.paths == ["/usr/lib/x86_64-linux-gnu/libudev.so.1.7.5"])
        #expect(libraries.path(of: "libudev") == libraries.paths.first)
        #expect(libraries.path(of: "libud") == nil)
        // libudev is loaded by the first search for ports.
        _ = try SerialPortDiscovery.ports()
        #expect(SharedLibraries.loaded().path(of: "libudev") != nil)
    }

    @Test func `A device without a driver, and brltty, have remedies with a command`() {
        let usb = SerialPortInfo.USB(USBIdentifier(vendor: 0x1A86, product: 0x7523), physicalPath: "1-2")
        let missing = findings(devicesWithoutPort: [usb]).first { $0.check == .driver }
        #expect(
            missing?.remedy
                == .command(RootCommand("modprobe", "ch341"), sentence: "load its driver: sudo modprobe ch341"))
        let brltty = findings(programs: ["brltty"]).first { $0.check == .brltty }
        let sentence =
            "sudo systemctl disable --now brltty; or sudo cp --remove-destination 99.rules /etc/udev/rules.d/, "
            + "then plug the device in again"
        #expect(
            brltty?.remedy
                == .command(RootCommand("systemctl", "disable", "--now", "brltty"), sentence: sentence))
        #expect(
            findings(programs: ["brltty"], rule: "/etc/99.rules").first { $0.check == .brltty }
                == .good(.brltty, "brltty runs, and /etc/99.rules keeps it away from adapters"))
    }

    @Test("A device on a pseudo-terminal needs no USB port")
    func pseudoTerminal() async throws {
        let terminal = try PseudoTerminal()
        let findings = try await Checkup.findings(at: Endpoint(terminal.path))
        #expect(!findings.contains { $0.check == .usbPorts && $0.status == .warning })
        let missing = try await Checkup.findings(at: Endpoint("/dev/pts/none"))
        // For a pseudo-terminal that does not exist, a computer without USB ports gets a warning.
        let hasUSBPort = try SerialPortDiscovery.ports().contains { $0.usb != nil }
        #expect(missing.contains { $0.check == .usbPorts && ($0.status == .warning) != hasUSBPort })
    }

    private func findings(
        programs: Set<String> = [], rule: String? = nil, devicesWithoutPort: [SerialPortInfo.USB] = [],
        kernel: Kernel = Kernel(release: "6.1.0", moduleLists: []) { _ in false }
    ) -> [Finding] {
        SystemCheckup(
            programs: programs, ports: [], devicesWithoutPort: devicesWithoutPort, kernel: kernel,
            libraries: SharedLibraries(maps: ""), rules: UdevRules(brltty: rule, brlttyExample: "99.rules")
        ).findings
    }
}
