import SerialPort
import TestSupport
import Testing

@testable import Diagnosis

@Suite struct UdevRulesTests {
    private let root = TemporaryFolder()

    @Test(arguments: ["/usr/lib/udev/rules.d", "/usr/local/lib/udev/rules.d", "/lib/udev/rules.d"])
    func `Rules in a folder of udev are found, and the example for brltty in that of the package`(folder: String) throws
    {
        let examples = "usr/share/doc/pumpctl/examples"
        try root.makeFolder(examples)
        try root.makeFolder(String(folder.dropFirst()))
        #expect(UdevRules.installed(root: root.path).ports == nil)
        let ports = root.write("", to: "\(folder.dropFirst())/70-pumpctl-ports.rules")
        let brltty = root.write("", to: "\(examples)/99-pumpctl-brltty.rules")
        let installed = UdevRules.installed(root: root.path)
        #expect(installed.ports == ports)
        #expect(installed.brltty == brltty)
    }

    @Test func `Hints name the installed files, and those of the source tree if none is installed`() {
        let installed = UdevRules(ports: "/usr/lib/udev/rules.d/70.rules", brltty: "/usr/share/doc/99.rules")
        #expect(
            remedies(UdevRules()) == [
                "sudo systemctl disable --now brltty; or sudo cp hardware/udev/99-pumpctl-brltty.rules /etc/udev/rules.d/",
                "echo 1 | sudo tee /sys/bus/usb-serial/devices/ptmx/latency_timer; permanently: "
                    + "hardware/udev/70-pumpctl-ports.rules",
                "sudo cp hardware/udev/70-pumpctl-ports.rules /etc/udev/rules.d/ && sudo udevadm control --reload, "
                    + "then plug it in again",
            ])
        let again = "plug it in again, so that /usr/lib/udev/rules.d/70.rules takes effect"
        #expect(
            remedies(installed) == [
                "sudo systemctl disable --now brltty; or sudo cp /usr/share/doc/99.rules /etc/udev/rules.d/",
                "echo 1 | sudo tee /sys/bus/usb-serial/devices/ptmx/latency_timer; permanently: \(again)", again,
            ])
    }

    /// The remedies that have to do with rules, for a computer with brltty and ModemManager and a slow adapter.
    private func remedies(_ rules: UdevRules) -> [String?] {
        var port = SerialPortInfo(path: "/dev/ptmx")
        port.usb = SerialPortInfo.USB(USBIdentifier(vendor: 0x0403, product: 0x6001), physicalPath: "1-2")
        port.latencyTimer = 16
        let programs: Set = ["brltty", "ModemManager"]
        let system = SystemCheckup(
            programs: programs, ports: [port], devicesWithoutPort: [], kernel: .running(), libraries: .loaded(),
            rules: rules)
        let checkup = PortCheckup(
            port: port, use: PortUse(path: port.path, holders: [], lockFiles: []), processes: (seen: 1, unseen: 0),
            baudRate: nil, programs: programs, rules: rules)
        return (system.findings + checkup.findings).filter { [.brltty, .latency, .modemManager].contains($0.check) }
            .map { $0.remedy?.description }
    }
}
