import ArgumentParser
import DeviceKit
import Testing

@testable import pumpctl

@Suite("Help of pumpctl monitor") struct MonitorHelpTests {
    /// The help is a literal, so that pumpctl need not compose it at each start. It must match the table of families.
    @Test func `monitor --help names each family's keys and their values`() {
        let families = FamilyRow.all.map(\.family).filter { $0.wire.follow != nil }.map { family in
            let keys = family.state.map { field in
                guard case .choice(let words) = field.value, field.key != "error" else { return field.key }
                return "\(field.key) (\((words + [field.unknownWord].compactMap(\.self)).joined(separator: ", ")))"
            }
            return "of \(family.device): \(keys.joined(separator: ", "))"
        }
        let sentence = "Values \(families.joined(separator: "; "))."
        #expect(MonitorCommand.configuration.discussion.contains(sentence), "\(sentence)")
    }
}
