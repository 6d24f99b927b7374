import Testing
@testable import DescriptorIO
